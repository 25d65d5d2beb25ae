/** The type of one field of a message, as far as reading its JSON needs it. */
export type FieldType =
  | 'string'
  | 'bool'
  | 'number'
  /** Whole numbers, which JSON may also give as text. */
  | 'int'
  | 'int64'
  /** Base64. */
  | 'bytes'
  /** Any JSON object. */
  | 'struct'
  /** Any JSON value. */
  | 'value'
  | { enum: readonly string[] }
  | { list: FieldType }
  | { map: FieldType }
  | { message: () => Message };

/** The fields of a message by their JSON (camelCase) names. */
export type Message = Readonly<Record<string, FieldType>>;

export type JsonObject = Readonly<Record<string, unknown>>;

/** What does not fit a message, in the words of the API. */
export class ShapeError extends Error {
  /** The unknown field, when that is what is wrong. */
  readonly unknownName: string | undefined;

  constructor(message: string, unknownName?: string) {
    super(message);
    this.unknownName = unknownName;
  }
}

/**
 * Reads a message from JSON as Google's APIs do: names in camelCase or snake_case, null for absent, a lone value for a
 * list of one, numbers as text; anything else that does not fit throws a ShapeError. Names come back in camelCase.
 * `path` says where the message stands.
 */
export function readMessage(value: unknown, message: Message, path = ''): JsonObject {
  if (!isObject(value)) throw new ShapeError(`Invalid value${atPath(path)}: a JSON object is expected.`);
  const read: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const camel = toCamel(name);
    const type = Object.hasOwn(message, camel) ? message[camel] : undefined;
    if (type === undefined) {
      throw new ShapeError(
        `Invalid JSON payload received. Unknown name "${name}"${atPath(path)}: Cannot find field.`,
        name,
      );
    }
    if (inner !== null) read.push([camel, readField(inner, type, join(path, toSnake(camel)))]);
  }
  return Object.fromEntries(read);
}

function readField(value: unknown, type: FieldType, path: string): unknown {
  if (typeof type === 'string') return readScalar(value, type, path);
  if ('message' in type) return readMessage(value, type.message(), path);
  if ('enum' in type) {
    if (typeof value === 'string' && type.enum.includes(value)) return value;
    throw invalidValue(path, 'TYPE_ENUM', value);
  }
  if ('map' in type) {
    if (!isObject(value)) throw invalidValue(path, 'TYPE_MESSAGE', value);
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, readField(inner, type.map, join(path, key))]),
    );
  }
  const list = Array.isArray(value) ? value : [value];
  return list.map((inner, index) => readField(inner, type.list, `${path}[${index}]`));
}

function readScalar(value: unknown, type: Extract<FieldType, string>, path: string): unknown {
  switch (type) {
    case 'value':
      return value;
    case 'struct':
      if (isObject(value)) return value;
      throw invalidValue(path, 'TYPE_MESSAGE', value);
    case 'string':
    case 'bytes':
      if (typeof value === 'string') return value;
      if (typeof value === 'object') throw startsObject(path);
      throw invalidValue(path, type === 'bytes' ? 'TYPE_BYTES' : 'TYPE_STRING', value);
    case 'bool':
      if (typeof value === 'boolean') return value;
      throw invalidValue(path, 'TYPE_BOOL', value);
    case 'number':
      return readNumber(value, path, 'TYPE_FLOAT', Number.isFinite);
    case 'int':
      return readNumber(value, path, 'TYPE_INT32', Number.isInteger);
    case 'int64':
      return String(readNumber(value, path, 'TYPE_INT64', Number.isInteger));
  }
}

function readNumber(value: unknown, path: string, type: string, isFine: (number: number) => boolean): number {
  const isText = typeof value === 'string' && value.trim() !== '';
  const number = isText || typeof value === 'number' ? Number(value) : Number.NaN;
  if (isFine(number)) return number;
  throw invalidValue(path, type, value);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalidValue(path: string, type: string, value: unknown): ShapeError {
  return new ShapeError(`Invalid value at '${path}' (${type}), ${JSON.stringify(value)}`);
}

function startsObject(path: string): ShapeError {
  const end = path.lastIndexOf('.');
  const [owner, name] = [path.slice(0, Math.max(end, 0)), path.slice(end + 1)];
  return new ShapeError(`Invalid value at '${owner}' (${name}), Starting an object on a scalar field`);
}

function atPath(path: string): string {
  return path === '' ? '' : ` at '${path}'`;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function toCamel(name: string): string {
  return !name.includes('_') ? name : name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
