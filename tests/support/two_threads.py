"""The main function of programs with two threads, which run `one` and `two`."""

from __future__ import annotations


def main_of_two(end: str = "return 0;") -> str:
    return f"""
int main(void) {{
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    {end}
}}
"""
