def draw_all(rows, folder):
    pass
