"""Text that is none of svmlight's format: the bytes, the options, and the whole message expected."""

from __future__ import annotations

from typing import Any, NamedTuple


class Bad(NamedTuple):
    text: bytes
    said: str  # behind the name of the file
    options: dict[str, Any] = {}  # noqa: RUF012  # never written to


MULTI: dict[str, Any] = {"multilabel": True}
QUERY: dict[str, Any] = {"query_id": True}
ONE: dict[str, Any] = {"zero_based": False}
LABEL = "expected a label, which is a number, found"
LABELS = "expected a label, or several with commas between them, found"
VALUE = "expected a number after the colon, found"
COLUMN = "expected a column, a whole number, before the colon, found"
PAIR = "expected column:value, found"
QID = "expected a whole number of at most 64 bits after 'qid:', found"
LARGE = "a column is at most 2147483647, found"
EVERY = "query_id=True needs one on every line"
ORDER = "columns must increase within a line"

CASES = [
    # labels
    Bad(b"a 1:2\n", f"1:1: {LABEL} 'a'."),
    Bad(b"  spam\n", f"1:3: {LABEL} 'spam'."),
    Bad(b"1 1:2\n\n# note\nx 1:2\n", f"4:1: {LABEL} 'x'."),
    Bad(b"1x 1:2\n", f"1:1: {LABEL} '1x'."),
    Bad(b"1..5 1:2\n", f"1:1: {LABEL} '1..5'."),
    Bad(b". 1:2\n", f"1:1: {LABEL} '.'."),
    Bad(b"- 1:2\n", f"1:1: {LABEL} '-'."),
    Bad(b"+-1 1:2\n", f"1:1: {LABEL} '+-1'."),
    Bad(b"1e 1:2\n", f"1:1: {LABEL} '1e'."),
    Bad(b"1e+ 1:2\n", f"1:1: {LABEL} '1e+'."),
    Bad(b"0x1p3 1:2\n", f"1:1: {LABEL} '0x1p3'."),
    Bad(b"1_000 1:2\n", f"1:1: {LABEL} '1_000'."),
    Bad(b"nano 1:2\n", f"1:1: {LABEL} 'nano'."),
    Bad(b"infinit 1:2\n", f"1:1: {LABEL} 'infinit'."),
    Bad(b".nan 1:2\n", f"1:1: {LABEL} '.nan'."),
    Bad(b"1,2 1:2\n", f"1:1: {LABEL} '1,2'; several labels need multilabel=True."),
    Bad(b"1:2 3:4\n", f"1:1: {LABEL} '1:2'; lines without a label need multilabel=True."),
    Bad(b"qid:1 1:2\n", f"1:1: {LABEL} 'qid:1'; lines without a label need multilabel=True."),
    Bad(b"\xff\xfe1\x00 \x001\x00\n", f"1:1: {LABEL} '\\xff\\xfe1\\x00'."),
    Bad(b"\x00\n", f"1:1: {LABEL} '\\x00'."),
    Bad(b"1\x00 1:2\n", f"1:1: {LABEL} '1\\x00'."),
    Bad("\u00bd 1:2\n".encode(), f"1:1: {LABEL} '\\xc2\\xbd'."),
    Bad(b"x" * 100 + b"\n", f"1:1: {LABEL} '{'x' * 24}...'."),
    Bad(b'"1" 1:2\n', f"1:1: {LABEL} '\"1\"'."),
    Bad(b"1;1:2\n", f"1:1: {LABEL} '1;1:2'; lines without a label need multilabel=True."),
    # several labels
    Bad(b"1,,2 1:2\n", f"1:3: {LABELS} ',2'.", MULTI),
    Bad(b"1, 1:2\n", f"1:3: {LABELS} a space.", MULTI),
    Bad(b"1,2,\n", f"1:5: {LABELS} the end of the line.", MULTI),
    Bad(b",1 1:2\n", f"1:1: {LABELS} ',1'.", MULTI),
    Bad(b"1,b 1:2\n", f"1:3: {LABELS} 'b'.", MULTI),
    Bad(b"1;2 1:2\n", f"1:1: {LABELS} '1;2'.", MULTI),
    Bad(b"one 1:2\n", f"1:1: {LABELS} 'one'.", MULTI),
    Bad(b"1, 2 1:2\n", f"1:3: {LABELS} a space.", MULTI),
    # pairs
    Bad(b"1 5\n", f"1:3: {PAIR} '5'."),
    Bad(b"1 1:2 foo 3:4\n", f"1:7: {PAIR} 'foo'."),
    Bad(b"1 1=2\n", f"1:3: {PAIR} '1=2'."),
    Bad(b"1 1 :2\n", f"1:3: {PAIR} '1'."),
    Bad(b"1\t1:2\t7\r\n", f"1:7: {PAIR} '7'."),
    Bad(b"1 +\n", f"1:3: {PAIR} '+'."),
    Bad(b"-1 1:2 \xc3\xa9\n", f"1:8: {PAIR} '\\xc3\\xa9'."),
    # columns
    Bad(b"1 :5\n", f"1:3: {COLUMN} ':5'."),
    Bad(b"1 x:5\n", f"1:3: {COLUMN} 'x:5'."),
    Bad(b"1 1.5:5\n", f"1:3: {COLUMN} '1.5:5'."),
    Bad(b"1 1e3:5\n", f"1:3: {COLUMN} '1e3:5'."),
    Bad(b"1 0x3:5\n", f"1:3: {COLUMN} '0x3:5'."),
    Bad(b"1 --3:5\n", f"1:3: {COLUMN} '--3:5'."),
    Bad(b"1 -:5\n", f"1:3: {COLUMN} '-:5'."),
    Bad(b"1 1:2 qid:3 4:5\n", f"1:7: {COLUMN} 'qid:3'."),
    Bad(b"1 sid:3 4:5\n", f"1:3: {COLUMN} 'sid:3'."),
    Bad(b"1 -3:5\n", "1:3: a column cannot be negative, found '-3:5'."),
    Bad(b"1 -0:5\n", "1:3: a column cannot be negative, found '-0:5'."),
    Bad(b"1 2147483648:5\n", f"1:3: {LARGE} '2147483648:5'."),
    Bad(b"1 1:1 99999999999999999999999999:5\n", f"1:7: {LARGE} '999999999999999999999999...'."),
    Bad(b"1 18446744073709551617:5\n", f"1:3: {LARGE} '18446744073709551617:5'."),
    Bad(b"1 3:1 3:2\n", "1:7: column 3 is there twice."),
    Bad(b"1 3:1 03:2\n", "1:7: column 3 is there twice."),
    Bad(b"1 3:1 2:2\n", f"1:7: column 2 behind column 3; {ORDER}."),
    Bad(b"1 1:1 2:1\n1 9:1 10:1 1:1\n", f"2:12: column 1 behind column 10; {ORDER}."),
    Bad(b"1 0:5\n", "1:3: column 0 in a file whose columns begin with 1.", ONE),
    Bad(b"1 1:5\n2 0:1 1:1\n", "2:3: column 0 in a file whose columns begin with 1.", ONE),
    # values
    Bad(b"1 1:\n", f"1:5: {VALUE} the end of the line."),
    Bad(b"1 1: 2\n", f"1:5: {VALUE} a space."),
    Bad(b"1 1:#2\n", f"1:5: {VALUE} the end of the line."),
    Bad(b"1 1:", f"1:5: {VALUE} the end of the line."),
    Bad(b"1 1:x\n", f"1:5: {VALUE} 'x'."),
    Bad(b"1 1:2:3\n", f"1:5: {VALUE} '2:3'."),
    Bad(b"1 1:2,5\n", f"1:5: {VALUE} '2,5'."),
    Bad(b"1 1:1.2.3\n", f"1:5: {VALUE} '1.2.3'."),
    Bad(b"1 1:1e5.5\n", f"1:5: {VALUE} '1e5.5'."),
    Bad(b"1 1:e5\n", f"1:5: {VALUE} 'e5'."),
    Bad(b"1 1:-.\n", f"1:5: {VALUE} '-.'."),
    Bad(b"1 1:--2\n", f"1:5: {VALUE} '--2'."),
    Bad(b"1 1:0x10\n", f"1:5: {VALUE} '0x10'."),
    Bad(b"1 1:nan(1)\n", f"1:5: {VALUE} 'nan(1)'."),
    Bad(b"1 1:1d5\n", f"1:5: {VALUE} '1d5'."),
    Bad(b"1 1:2 2:NULL\n", f"1:9: {VALUE} 'NULL'."),
    Bad(b"1 1:1\x00\n", f"1:5: {VALUE} '1\\x00'."),
    Bad(b"1 1:1f\n", f"1:5: {VALUE} '1f'."),
    Bad(b"1 1:?\n", f"1:5: {VALUE} '?'."),
    # queries
    Bad(b"1 qid 1:2\n", "1:3: expected 'qid:' and a whole number, found 'qid'."),
    Bad(b"1 qid1:2 1:2\n", "1:3: expected 'qid:' and a whole number, found 'qid1:2'."),
    Bad(b"1 qid: 1:2\n", f"1:7: {QID} a space."),
    Bad(b"1 qid:x 1:2\n", f"1:7: {QID} 'x'.", QUERY),
    Bad(b"1 qid:1.5 1:2\n", f"1:7: {QID} '1.5'.", QUERY),
    Bad(b"1 qid:9223372036854775808 1:2\n", f"1:7: {QID} '9223372036854775808'.", QUERY),
    Bad(b"1 qid:1 1:2\n# note\n2 1:2\n", f"3:1: expected 'qid:' after the label, as on line 1; {EVERY}.", QUERY),
]
