/** What a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** One record of RFC 4180, line end included. Null is an empty cell. */
export function csvRecord(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: string | number | boolean | null): string {
  if (value === null) return '';
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
