export interface Translating {
  /** What the work gives; what it throws is translated. */
  translated<Result>(work: () => Promise<Result>): Promise<Result>;
  /** What the source yields; what it throws is translated. */
  readTranslated(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
}

/** Has the errors of what lies under a store come out as the store's own. */
export function translateErrors(toStoreError: (error: unknown) => unknown): Translating {
  return {
    async translated(work) {
      try {
        return await work();
      } catch (error) {
        throw toStoreError(error);
      }
    },
    async *readTranslated(source) {
      try {
        yield* source;
      } catch (error) {
        throw toStoreError(error);
      }
    },
  };
}
