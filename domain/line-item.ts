/** A value as its column's type has it: text, number, ISO 8601 day, boolean, exact decimal string; null where it is absent. */
export type CellValue = string | number | boolean | null;

/** A row that a document gave, by the names of the columns. */
export interface LineItem {
  readonly [column: string]: CellValue;
}

/** Where a row stands and how sure the model is of it; null where the model does not say. */
export interface RowProvenance {
  /** From 1. */
  readonly page: number | null;
  /** From 0 to 1. */
  readonly confidence: number | null;
}
