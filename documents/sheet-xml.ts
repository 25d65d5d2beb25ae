import { exactNumber } from '../domain/read-decimal.ts';
import type { TableCell } from './result-table.ts';

/** Of Excel: characters of one cell. */
const MAX_CELL_CHARS = 32_767;
/** Excel's first day that is counted right: it takes 1900 for a leap year. */
const FIRST_DAY = '1900-03-01';
const DAY_ZERO = Date.UTC(1899, 11, 30);
const DAY_MS = 86_400_000;

/** Positions in the cell formats of STYLES_XML. */
const STYLE = { text: 1, date: 2, header: 3 } as const;

/** What XML has no way to hold (XML 1.0, 2.2), and half a surrogate pair. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
/** Excel reads `_x0041_` as an escape for `A`; escaped itself, it stays as it is. */
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;
const ENTITIES: { readonly [char: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const SHEET_START =
  '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
  '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">' +
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
  '<sheetData>';
export const SHEET_END = '</sheetData></worksheet>';

/** Formats: general; text, which stays text when somebody edits it; ISO 8601 day; bold text. */
export const STYLES_XML =
  '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
  '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">' +
  '<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts>' +
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  '<cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>' +
  '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>' +
  '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>' +
  '<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/></cellXfs>' +
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>';

/** A row of a worksheet (ECMA-376 part 1, 18.3.1.73), the first of which is 1. */
/** A row of a sheet, numbered from 1; its cells from column A on. */
export function rowXml(number: number, cells: readonly TableCell[]): string {
  return `<row r="${number}">${cells.map((cell, index) => cellXml(`${letters(index)}${number}`, cell)).join('')}</row>`;
}

/** The first row: names, in bold. */
export function headerXml(names: readonly string[]): string {
  return `<row r="1">${names.map((name, index) => textXml(`${letters(index)}1`, name, STYLE.header)).join('')}</row>`;
}

/** Text as XML may hold it: what it cannot is left out. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(NOT_XML, '')
    .replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
}

/** There is no way here to write a formula: a text is an inline string, whatever it begins with. */
function cellXml(reference: string, cell: TableCell): string {
  switch (cell.kind) {
    case 'empty':
      return '';
    case 'boolean':
      return `<c r="${reference}" t="b"><v>${cell.value ? 1 : 0}</v></c>`;
    case 'number':
      // Spreadsheets count in doubles: what one cannot hold is for reading only.
      return exactNumber(cell.value) === null
        ? textXml(reference, cell.value, STYLE.text)
        : `<c r="${reference}"><v>${cell.value}</v></c>`;
    case 'date':
      return dateXml(reference, cell.value);
    case 'text':
      return textXml(reference, cell.value, STYLE.text);
  }
}

function dateXml(reference: string, day: string): string {
  const time = Date.parse(`${day}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(time) || day < FIRST_DAY) {
    return textXml(reference, day, STYLE.text);
  }
  return `<c r="${reference}" s="${STYLE.date}"><v>${(time - DAY_ZERO) / DAY_MS}</v></c>`;
}

function textXml(reference: string, text: string, style: number): string {
  const shown = text.replace(/\r\n?/g, '\n').slice(0, MAX_CELL_CHARS);
  const escaped = escapeXml(shown).replace(LOOKS_ESCAPED, '_x005F_');
  return `<c r="${reference}" t="inlineStr" s="${style}"><is><t xml:space="preserve">${escaped}</t></is></c>`;
}

/** A, …, Z, AA, … for the columns from 0 on. */
function letters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letters(Math.floor(index / 26) - 1) + last;
}
