import { inputError, usageError } from '../errors.ts';
import { askText, type Endpoint } from './request-shape.ts';
import type { Row } from './row.ts';
import type { Template } from './template.ts';

/** How the rows of a file become the items of a job. */
export interface ItemPlan {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** The item as JSON. `number` counts the rows from 1. Throws an input error. */
  toItem(row: Row, number: number): string;
}

export interface ItemChoices {
  readonly endpoint: Endpoint | undefined;
  readonly model: string | undefined;
  readonly template: Template | undefined;
  readonly idColumn: string | undefined;
}

type Json = { readonly [member: string]: unknown };

/**
 * Tells from the first row what the file holds: lines of an OpenAI batch file, items of our own, or, with a template,
 * rows to make requests of. Throws a usage or an input error.
 */
export function planItems(first: Row, file: string, choices: ItemChoices): ItemPlan {
  if (choices.template !== undefined) return planRows(choices.template, file, choices);
  if (isOpenAiLine(first.value)) return planOpenAiLines(first, file, choices);
  if (isObject(first.value['request']) && 'custom_id' in first.value) return planItemLines(first, choices);
  const columns = Object.keys(first.value);
  const example = columns[0] ?? 'column';
  throw usageError(
    `${file} holds rows (${columns.slice(0, 10).join(', ')}): say what to ask of each with --template "… {{${example}}} …".`,
    '--template',
  );
}

function planRows(
  template: Template,
  file: string,
  { endpoint = 'chat.completions', model, idColumn }: ItemChoices,
): ItemPlan {
  return {
    endpoint,
    model: required(model),
    toItem: (row, number) =>
      JSON.stringify({
        custom_id: idColumn === undefined ? rowId(number) : idOf(row, idColumn, file),
        request: askText(endpoint, template.fill(row, file)),
      }),
  };
}

function rowId(number: number): string {
  return `row_${String(number).padStart(6, '0')}`;
}

function idOf({ line, value }: Row, column: string, file: string): string {
  const id = Object.hasOwn(value, column) ? value[column] : undefined;
  if ((typeof id === 'string' && id !== '') || typeof id === 'number') return String(id);
  const state =
    id === undefined ? 'is not there' : id === '' || id === null ? 'is empty' : 'is neither text nor a number';
  throw inputError(file, line, `the column "${column}" for --id-column ${state}`);
}

/** Passed on as they are: the gateway judges them, line by line. */
function planItemLines({ value }: Row, { endpoint = 'chat.completions', model, idColumn }: ItemChoices): ItemPlan {
  refuseIdColumn(idColumn);
  const own = isObject(value['request']) ? value['request']['model'] : undefined;
  return {
    endpoint,
    model: model ?? required(typeof own === 'string' ? own : undefined),
    toItem: (row) => row.text ?? JSON.stringify(row.value),
  };
}

/** URLs of an OpenAI batch file (OpenAI Batch API docs). */
const ENDPOINT_OF_URL: { readonly [url: string]: Endpoint } = {
  '/v1/chat/completions': 'chat.completions',
  '/v1/responses': 'responses',
  '/v1/embeddings': 'embeddings',
  '/v1/moderations': 'moderations',
};

function isOpenAiLine(value: Json): boolean {
  return isObject(value['body']) && 'custom_id' in value && ('url' in value || 'method' in value);
}

function planOpenAiLines(
  first: Row,
  file: string,
  { endpoint: asked, model: askedModel, idColumn }: ItemChoices,
): ItemPlan {
  refuseIdColumn(idColumn);
  const url = first.value['url'];
  const endpoint = typeof url === 'string' && Object.hasOwn(ENDPOINT_OF_URL, url) ? ENDPOINT_OF_URL[url] : undefined;
  if (endpoint === undefined) {
    const known = Object.keys(ENDPOINT_OF_URL).join(', ');
    throw inputError(file, first.line, `url must be one of ${known}, not ${JSON.stringify(url)}`);
  }
  if (asked !== undefined && asked !== endpoint) {
    throw usageError(`The lines of ${file} are for ${endpoint}, not for ${asked}.`, '--endpoint');
  }
  const model = askedModel ?? modelOf(first, file);
  return {
    endpoint,
    model,
    toItem(row) {
      const { custom_id, body, url: ownUrl } = row.value;
      if (!isObject(body)) throw inputError(file, row.line, 'body must be a JSON object, as in the lines before');
      if (ownUrl !== url) {
        throw inputError(
          file,
          row.line,
          `url is ${JSON.stringify(ownUrl)}, but ${String(url)} in line ${first.line}; a job has one endpoint`,
        );
      }
      const { model: ownModel, ...request } = body;
      const isJobModel = askedModel !== undefined || modelOf(row, file) === model;
      return JSON.stringify({ custom_id, request: isJobModel ? request : { ...request, model: ownModel } });
    },
  };
}

function modelOf({ line, value }: Row, file: string): string {
  const model = isObject(value['body']) ? value['body']['model'] : undefined;
  if (typeof model === 'string' && model !== '') return model;
  throw inputError(file, line, 'body names no model; give one for all lines with --model');
}

function required(model: string | undefined): string {
  if (model === undefined) {
    throw usageError(
      '--model is needed: an alias such as analysis-small, or provider/model. "models" lists them.',
      '--model',
    );
  }
  return model;
}

function refuseIdColumn(idColumn: string | undefined): void {
  if (idColumn !== undefined) throw usageError('--id-column is for rows; these lines have a custom_id.', '--id-column');
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
