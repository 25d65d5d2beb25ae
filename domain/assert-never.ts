/** For an exhaustive switch over one of our own unions: reaching it is a defect, so it throws. */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value: ${JSON.stringify(value)}`);
}
