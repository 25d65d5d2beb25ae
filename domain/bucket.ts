/** A UTC month as a number, such as 202608: the partition that a row and all that belongs to it live in. */
export type Bucket = number;

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';
/** Of a TypeID's 26 characters, the first ten hold the 48 bits of the UUIDv7's time and nothing else. */
const TIME_CHARS = 10;
const SUFFIX = /(?:^|_)([0-7][0-9a-hjkmnp-tv-z]{25})$/;

export function monthBucket(timeMs: number): Bucket {
  const date = new Date(timeMs);
  const bucket = date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
  if (Number.isNaN(bucket)) throw new RangeError('not a time');
  return bucket;
}

/** When a TypeID over a UUIDv7 (`job_01j7…`) was made, in milliseconds; null for an id of another form. */
export function findIdTimeMs(typeId: string): number | null {
  const suffix = SUFFIX.exec(typeId)?.[1];
  if (suffix === undefined) return null;
  return [...suffix.slice(0, TIME_CHARS)].reduce((time, char) => time * 32 + BASE32.indexOf(char), 0);
}

/** The bucket of a TypeID by its own time, so that an id alone finds its partition; null for an id of another form. */
export function findBucket(typeId: string): Bucket | null {
  const timeMs = findIdTimeMs(typeId);
  return timeMs === null ? null : monthBucket(timeMs);
}
