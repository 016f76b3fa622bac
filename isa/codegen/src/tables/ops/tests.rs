//! Each rule of the table, by a row that breaks it.

use super::*;

fn refusal(toml: &str) -> String {
    parse("t.toml", toml).expect_err("the rows are wrong").to_string()
}

const COST: &str = "[[cost]]\nname = \"one\"\nunit = 1\nthread = 1\nlatency = 1\n\
                    source = [\"inferred:test\"]\n";

fn op(opcode: u32, extra: &str) -> String {
    format!(
        "[[op]]\nname = \"A{opcode}\"\nopcode = {opcode}\nunit = \"sync\"\nresource = \"unit\"\n\
         cost = \"one\"\nsync_class = \"other\"\nstirs = true\nsource = [\"inferred:test\"]\n\
         {extra}\n"
    )
}

fn table(ops: &[String]) -> String {
    ops.concat() + COST
}

fn one(extra: &str) -> String {
    table(&[op(1, extra)])
}

#[test]
fn op_rows_correct_come_back_sorted() {
    let rows = parse("t.toml", &table(&[op(9, ""), op(3, "")])).expect("the rows are right").ops;
    assert_eq!(rows.iter().map(|r| r.opcode).collect::<Vec<_>>(), [3, 9]);
}

#[test]
fn op_without_source_is_refused() {
    let text = refusal(&one("").replacen("source = [\"inferred:test\"]", "", 1));
    assert!(text.contains("A1: missing source"), "{text}");
}

#[test]
fn op_without_what_it_stirs_is_refused() {
    let text = refusal(&one("").replace("stirs = true", ""));
    assert!(text.contains("missing field `stirs`"), "{text}");
}

#[test]
fn op_with_taken_opcode_is_refused() {
    let text = refusal(&table(&[op(7, ""), op(7, "")]));
    assert!(text.contains("A7: opcode 0x07 is also that of A7"), "{text}");
    assert!(text.contains("A7: name is used twice"), "{text}");
}

#[test]
fn op_with_unknown_column_value_is_refused() {
    for (known, column) in [("sync", "unit"), ("other", "sync_class")] {
        let text = refusal(&one("").replacen(&format!("\"{known}\""), "\"gearbox\"", 1));
        assert!(text.contains(&format!("A1: unknown {column} `gearbox`")), "{text}");
    }
    assert!(refusal(&one("gate = \"gearbox\"")).contains("A1: unknown gate `gearbox`"));
    assert!(refusal(&one("needs = [\"Dst\"]")).contains("A1: unknown operand `Dst`"));
    let text = refusal(&one("").replacen("cost = \"one\"", "cost = \"two\"", 1));
    assert!(text.contains("A1: unknown cost `two`"), "{text}");
    assert!(text.contains("cost one: no instruction has it"), "{text}");
}

#[test]
fn op_with_column_of_another_unit_is_refused() {
    assert!(
        refusal(&one("needs = [\"SrcA\"]")).contains("are for instructions of the matrix unit")
    );
    assert!(refusal(&one("sub_unit = \"mad\"")).contains("of the vector unit, all of them"));
}

#[test]
fn op_field_overlap_is_refused() {
    let args = "args = [{name=\"a\",lo=0,width=4},{name=\"b\",lo=3,width=1}]";
    assert!(refusal(&one(args)).contains("A1.b: overlaps or precedes a"));
}

#[test]
fn op_part_may_overlap_but_not_repeat() {
    let args = "args = [{name=\"a\",lo=0,width=4}]\nparts = [{name=\"b\",lo=3,width=1}]";
    assert!(parse("t.toml", &one(args)).is_ok());
    assert!(refusal(&one(&args.replace("lo=3,width=1", "lo=0,width=4"))).contains("A1.b: is an"));
    assert!(refusal(&one(&args.replace("\"b\"", "\"a\""))).contains("A1.a: field name is used"));
    assert!(refusal(&one(&args.replace("lo=3", "lo=24"))).contains("A1.b: is not in bits 0 to 23"));
}

#[test]
fn op_field_beyond_24_bits_is_refused() {
    let args = "args = [{name=\"a\",lo=20,width=5}]";
    assert!(refusal(&one(args)).contains("A1.a: ends above bit 23"));
}

#[test]
fn op_field_wider_than_macro_is_refused() {
    let args = "args = [{name=\"a\",lo=0,width=5,macro_width=4}]";
    assert!(refusal(&one(args)).contains("A1.a: width 5 is not in 1..=4"));
}

#[test]
fn op_field_that_names_half_a_register_is_refused() {
    let args = "args = [{name=\"a\",lo=0,width=3,lreg=\"VD\"}]";
    assert!(refusal(&one(args)).contains("A1.a: names no register by `VD`"));
}

#[test]
fn op_rows_of_one_form_have_one_layout() {
    let row = |opcode, lo| {
        op(opcode, &format!("form = \"pair\"\nargs = [{{name=\"a\",lo={lo},width=4}}]"))
    };
    assert!(parse("t.toml", &table(&[row(1, 0), row(2, 0)])).is_ok());
    assert!(
        refusal(&table(&[row(1, 0), row(2, 1)])).contains("A2: its fields are not those of A1")
    );
}

#[test]
fn op_block_bit_unknown_is_refused() {
    assert!(refusal(&one("blocked_by = [\"B9\"]")).contains("unknown block bit `B9`"));
}

#[test]
fn cost_without_cycles_is_refused() {
    let text = refusal(&one("").replace("latency = 1", "latency = 0"));
    assert!(text.contains("cost one: cycles are 1 to 65535"), "{text}");
}
