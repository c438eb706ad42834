// CSV (RFC 4180), with LF line ends.
import { printable, printableJson } from '../../runtime/messages';
import type { Row } from './table';

/** A header with the columns of all rows, and a line for each row. */
export function csvLines(rows: readonly Row[]): string[] {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => columns.map((column) => row[column]));
  return columns.length === 0 ? [] : [columns, ...lines].map((line) => line.map(field).join(','));
}

/** A text that a spreadsheet would take for a formula; control characters are escaped already. */
const FORMULA = /^[=+\-@]/;

function field(value: unknown): string {
  const plain = printable(textOf(value));
  const text = typeof value !== 'number' && FORMULA.test(plain) ? `'${plain}` : plain;
  return /[",]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) {
    return '';
  }
  if (Array.isArray(value) && value.every((entry) => typeof entry !== 'object')) {
    return value.join(',');
  }
  return typeof value === 'object' ? printableJson(value) : String(value as string | number | boolean);
}
