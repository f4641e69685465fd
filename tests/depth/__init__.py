"""Which scenarios the default depth has: chosen by what each of them detects for each second that it costs."""
