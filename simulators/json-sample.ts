type Schema = Readonly<Record<string, unknown>>;

const DEEPEST = 12;

/**
 * A value that fits a JSON schema, for replies that were asked to. `text` fills free strings and `seed` varies the
 * numbers, so the same prompt gives the same value. Understands the subset of JSON schema that providers accept for
 * structured output.
 */
export function sampleOfSchema(schema: unknown, text: string, seed: number): unknown {
  return sample(asSchema(schema), { root: asSchema(schema), text, seed }, 0);
}

interface Source {
  root: Schema;
  text: string;
  seed: number;
}

function sample(schema: Schema, source: Source, depth: number): unknown {
  const { enum: choices, const: only, $ref: reference, anyOf, oneOf } = schema as Record<string, unknown>;
  if (only !== undefined) return only;
  if (Array.isArray(choices)) return choices[source.seed % choices.length];
  if (depth > DEEPEST) return null;
  if (typeof reference === 'string') return sample(resolve(reference, source.root), source, depth + 1);
  const variants = anyOf ?? oneOf;
  if (Array.isArray(variants)) return sample(asSchema(variants[0]), source, depth + 1);
  return sampleOfType(schema, source, depth);
}

function sampleOfType(schema: Schema, source: Source, depth: number): unknown {
  const { type, properties, items, minItems, minimum } = schema as Record<string, unknown>;
  const kind = Array.isArray(type)
    ? type.find((each) => each !== 'null')
    : (type ?? (properties ? 'object' : 'string'));
  switch (kind) {
    case 'object':
      return Object.fromEntries(
        Object.entries(asSchema(properties)).map(([name, inner]) => [name, sample(asSchema(inner), source, depth + 1)]),
      );
    case 'array':
      return Array.from({ length: Math.max(Number(minItems ?? 1), 1) }, () =>
        sample(asSchema(items), source, depth + 1),
      );
    case 'number':
    case 'integer':
      return Number(minimum ?? 0) + (source.seed % 100);
    case 'boolean':
      return source.seed % 2 === 0;
    case 'null':
      return null;
    default:
      return source.text;
  }
}

/** `#/$defs/name` and the like. */
function resolve(reference: string, root: Schema): Schema {
  const path = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
  return path.reduce((schema, name) => asSchema(schema[name]), root);
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {};
}
