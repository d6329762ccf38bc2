"""What an exported model costs, for people."""

_TYPES = {"float": "float", "int8_t": "int8", "uint16_t": "uint16"}


def cost_text(title, record, program, scored):
    """The text of cost.txt; ``scored`` names what accuracy is: accuracy or R2."""
    lines = [
        title,
        "",
        f"flash          {record.flash_bytes} bytes: {record.table_bytes} of tables and about "
        f"{record.code_bytes} of code",
        "               (code is estimated for an ARM Cortex-M4 at -Os, without libm)",
        f"RAM            about {record.ram_bytes} bytes of stack, none static",
        f"multiply-adds  {record.multiply_adds} per row",
        "",
        f"difference     {record.largest_difference:.3g} at most from the model's scores, on "
        f"{record.n_rows} rows;",
        f"               its largest score there is {record.largest_score:.3g}",
    ]
    if record.agreement is not None:
        lines.append(f"labels         {100 * record.agreement:.2f} % as the model's")
    if record.accuracy_before is not None:
        lines.append(
            f"{scored:<14} {record.accuracy_before:.4f} before, {record.accuracy_after:.4f} after"
        )
    lines += ["", "tables         bytes     type    extent"]
    for table in program.tables:
        name = table.symbol.removeprefix("@_")
        extent = " x ".join(str(size) for size in table.shape)
        lines.append(f"{name:<22} {table.n_bytes:>9} {_TYPES[table.ctype]:<7} {extent}")
    lines.append(f"{'(records)':<22} {program.record_bytes:>9} {'':<7} pointers and sizes")
    return "\n".join(line.rstrip() for line in lines) + "\n"
