import type { DocumentColumn } from './document.ts';
import type { DocumentFacts } from './document-facts.ts';
import { type DocumentForm, extractionPrompt } from './extraction-request.ts';
import { extractionSchema, keyColumns } from './extraction-schema.ts';
import { estimateJsonTokens } from './json-tokens.ts';
import type { Dialect } from './provider.ts';
import { estimateTextTokens } from './text-tokens.ts';

/** What was counted of a document when it was uploaded. */
export type CountedDocument = Pick<DocumentFacts, 'pages' | 'textTokens' | 'width' | 'height'>;

/** What each dialect charges for a document, beside its text. */
interface MediaRates {
  /** The picture that is made of each page of a PDF. */
  readonly pageTokens: number;
  /** Hundredths of the counted text that a PDF is charged with besides its pictures. */
  readonly textPercent: number;
  /** Tokens of an image by its pixels; the most of any where they are not known. */
  imageTokens(width: number, height: number): number;
  readonly mostImageTokens: number;
}

/**
 * OpenAI (PDF and vision guides): each page is its text and a picture; a picture is 32-pixel patches, at most 1,536 of
 * them, times up to 1.72 (o4-mini, among those that are not named nano).
 */
const OPENAI: MediaRates = {
  pageTokens: Math.ceil(1_536 * 1.72),
  textPercent: 100,
  imageTokens: (width, height) => Math.ceil(Math.min(1_536, Math.ceil(width / 32) * Math.ceil(height / 32)) * 1.72),
  mostImageTokens: Math.ceil(1_536 * 1.72),
};

/**
 * Anthropic (PDF support and vision docs): each page is its text and a picture; a picture is width × height / 750, at most
 * 4,784 for the newest models and 1,568 for others. A page was measured as 1,600 tokens scanned and 2,350 with text. The
 * tokenizer of the newest models gives a third more than others.
 */
const ANTHROPIC: MediaRates = {
  pageTokens: 1_600,
  textPercent: 135,
  imageTokens: (width, height) => Math.min(4_784, Math.ceil((width * height) / 750)),
  mostImageTokens: 4_784,
};

/**
 * Gemini (document, media resolution and token docs): a page is a picture of 560 tokens by default since Gemini 3, 258
 * before; the text that stands in a PDF is not charged. An image is 1,120 tokens by default since Gemini 3, and before
 * that 258 for each tile of 768 pixels.
 */
const GEMINI: MediaRates = {
  pageTokens: 560,
  textPercent: 0,
  imageTokens: (width, height) => Math.max(1_120, 258 * Math.ceil(width / 768) * Math.ceil(height / 768)),
  mostImageTokens: 5_000,
};

const RATES: { readonly [dialect in Dialect]: MediaRates } = { openai: OPENAI, anthropic: ANTHROPIC, gemini: GEMINI };

/** Marks, fences and the roles of messages. */
const OVERHEAD_TOKENS = 100;

/** A page of text that could not be counted. */
const ASSUMED_PAGE_TEXT_TOKENS = 800;

/** A page with less is taken for a scan, or half of one: its text says nothing of how much stands on it. */
const LEAST_PAGE_TEXT_TOKENS = 100;

/** Rows of a dense table on one page, as on a statement of account. */
const ROWS_PER_PAGE = 40;
const TOKENS_OF_VALUE = 8;
/** Braces, page and confidence. */
const TOKENS_OF_ROW = 24;
/** Room to think and for a short document's rows, however few its pages. */
const LEAST_OUTPUT_TOKENS = 4_096;

/** What requests about documents are estimated by, for one set of columns: what all of them share is counted once. */
export interface ExtractionEstimate {
  /** Input tokens of the first request for a document, on the high side: what is held before it is sent. */
  inputTokens(document: CountedDocument, form: DocumentForm): number;
  /**
   * Output tokens that the rows of a document may take: by its pages, each of them full of rows, or by its text, all of it
   * repeated as values with their names, whichever is less; at least LEAST_OUTPUT_TOKENS. What a request is capped with.
   */
  outputTokens(document: CountedDocument): number;
}

export function extractionEstimate(asked: {
  readonly dialect: Dialect;
  readonly columns: readonly DocumentColumn[];
  readonly isSchemaTaken: boolean;
}): ExtractionEstimate {
  const { columns, isSchemaTaken, dialect } = asked;
  const prompt = estimateTextTokens(extractionPrompt(columns, { isSchemaTaken }));
  const schema = isSchemaTaken ? estimateJsonTokens(extractionSchema(columns)) : 0;
  const names = keyColumns(columns).reduce((sum, { key }) => sum + estimateTextTokens(key) + 2, 0);
  return {
    inputTokens: (document, form) => prompt + schema + OVERHEAD_TOKENS + documentTokens(document, form, RATES[dialect]),
    outputTokens: (document) => outputTokens(document, { names, columns: columns.length }),
  };
}

function documentTokens(document: CountedDocument, form: DocumentForm, rates: MediaRates): number {
  const { width, height } = document;
  switch (form) {
    case 'file':
      return pagesOf(document) * rates.pageTokens + Math.ceil((textTokensOf(document) * rates.textPercent) / 100);
    case 'image':
      return width === null || height === null ? rates.mostImageTokens : rates.imageTokens(width, height);
    case 'text':
      return Math.ceil((textTokensOf(document) * Math.max(100, rates.textPercent)) / 100);
  }
}

/** `names` are the tokens that the names of the columns take in a row. */
function outputTokens(
  document: CountedDocument,
  { names, columns }: { readonly names: number; readonly columns: number },
): number {
  const byPages = pagesOf(document) * ROWS_PER_PAGE * (TOKENS_OF_ROW + names + columns * TOKENS_OF_VALUE);
  const { pages, textTokens } = document;
  if (textTokens === null || textTokens < LEAST_PAGE_TEXT_TOKENS * (pages ?? 0)) {
    return Math.max(LEAST_OUTPUT_TOKENS, byPages);
  }
  // A value is at least a token: a text of n tokens holds at most n / columns rows.
  const mostRows = Math.ceil(textTokens / Math.max(1, columns));
  const byText = 2 * textTokens + mostRows * (TOKENS_OF_ROW + names);
  return Math.max(LEAST_OUTPUT_TOKENS, pages === null ? byText : Math.min(byPages, byText));
}

function pagesOf({ pages }: CountedDocument): number {
  return Math.max(1, pages ?? 1);
}

function textTokensOf(document: CountedDocument): number {
  return document.textTokens ?? pagesOf(document) * ASSUMED_PAGE_TEXT_TOKENS;
}
