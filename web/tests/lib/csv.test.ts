// Tables as CSV: what a spreadsheet reads back is what the table held.

import { expect, test } from "vitest";
import { csvText } from "../../src/lib/csv";

test("numbers in full, texts quoted where they must be, nothing for what is missing", () => {
  const text = csvText({
    header: ["engine", "value"],
    rows: [["sqlite, tuned", 0.1 + 0.2], ['the "old" one', null], ["two\nlines", -3]],
  });
  expect(text).toBe(
    'engine,value\r\n"sqlite, tuned",0.30000000000000004\r\n"the ""old"" one",\r\n' +
      '"two\nlines",-3\r\n',
  );
});

test("a name cannot become a formula", () => {
  expect(csvText({ header: ["=cmd()"], rows: [["@SUM(A1)"]] })).toBe("'=cmd()\r\n'@SUM(A1)\r\n");
});
