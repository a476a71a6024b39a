from hypothesis import HealthCheck, settings

# Speed is measured by benchmarks, never by tests.
settings.register_profile("mazurka", deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("mazurka")
