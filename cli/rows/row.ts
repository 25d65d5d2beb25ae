/** One row of an input file. */
export interface Row {
  /** 1-based line of the file on which it starts. */
  readonly line: number;
  readonly value: { readonly [column: string]: unknown };
  /** The JSON it was read from. */
  readonly text?: string;
}
