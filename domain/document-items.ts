import type { ItemGroup } from './admission-facts.ts';
import type { CapabilityRow } from './capability-row.ts';
import type { DocumentColumn } from './document.ts';
import type { DocumentFacts } from './document-facts.ts';
import { extractionEstimate } from './document-tokens.ts';
import { type DocumentForm, documentForm, extractionRequest, takesSchema } from './extraction-request.ts';
import type { Dialect } from './provider.ts';
import { FEATURE } from './request-features.ts';

/** The model that a run names which names none, and whose batch has named none before. */
export const DEFAULT_DOCUMENT_MODEL = 'analysis-large';

/** A document as it was counted at its upload. */
export interface CountedFile extends DocumentFacts {
  readonly bytes: number;
  /** Of an answer that is to be mended, which goes along with the document; 0 for a first request. */
  readonly repairTokens?: number;
}

/** Who is asked about documents, and what for. */
export interface Asked {
  readonly capability: Pick<CapabilityRow, 'refuses'>;
  readonly dialect: Dialect;
  readonly columns: readonly DocumentColumn[];
  /** Of the model. */
  readonly maxOutputTokens: number;
}

/** An item of a run, measured before its request is built. */
export interface MeasuredItem {
  /** Null for a document that cannot be put before the model at all: it fails, and costs nothing. */
  readonly form: DocumentForm | null;
  readonly features: number;
  readonly inputTokens: number;
  /** What the request is capped with. */
  readonly outputTokens: number;
  /** Of its request, at most. */
  readonly bodyBytes: number;
}

/** JSON writes line ends and quotes as two characters, and text in PDF is compressed: so many bytes for a counted token. */
const BYTES_OF_TOKEN = 8;
/** A UTF-16 unit in UTF-8. */
const MAX_BYTES_OF_CHAR = 3;
const FENCE_BYTES = 1_000;
/** A file that is sent as itself is written with four characters for each three bytes. */
const base64Bytes = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** Measures the items of documents for one target. */
export function itemMeasure(asked: Asked): (file: CountedFile) => MeasuredItem {
  const { capability, dialect, columns } = asked;
  const isSchemaTaken = takesSchema(capability);
  const empty = extractionRequest({ columns, content: { form: 'text', text: '' }, isSchemaTaken, maxOutputTokens: 1 });
  const estimate = extractionEstimate({ dialect, columns, isSchemaTaken });
  const ownBytes = JSON.stringify(empty).length * MAX_BYTES_OF_CHAR + FENCE_BYTES;
  return (file) => {
    const found = documentForm(file.mediaType, capability);
    const form = found === 'text_unreadable' ? null : found;
    if (form === null) return { form, features: 0, inputTokens: 0, outputTokens: 1, bodyBytes: ownBytes };
    const repairTokens = file.repairTokens ?? 0;
    return {
      form,
      features: featuresOf(form, isSchemaTaken),
      inputTokens: estimate.inputTokens(file, form) + repairTokens,
      outputTokens: Math.min(estimate.outputTokens(file), asked.maxOutputTokens),
      bodyBytes: ownBytes + repairTokens * BYTES_OF_TOKEN + contentBytes(file, form),
    };
  };
}

function contentBytes({ bytes, textTokens, mediaType }: CountedFile, form: DocumentForm): number {
  if (form !== 'text') return base64Bytes(bytes);
  return mediaType === 'application/pdf' ? (textTokens ?? 0) * BYTES_OF_TOKEN : 2 * bytes;
}

function featuresOf(form: DocumentForm, isSchemaTaken: boolean): number {
  const input = { file: FEATURE.DOCUMENT_INPUT, image: FEATURE.IMAGE_INPUT, text: 0 }[form];
  return input | (isSchemaTaken ? FEATURE.STRUCTURED_OUTPUT : 0);
}

/** What a target should take so that none of the documents has to be left out: a scan can only be shown as it is. */
export function wishedFeatures(files: readonly CountedFile[]): number {
  let features = 0;
  for (const { mediaType, textTokens } of files) {
    if (mediaType.startsWith('image/')) features |= FEATURE.IMAGE_INPUT;
    if (mediaType === 'application/pdf' && textTokens === 0) features |= FEATURE.DOCUMENT_INPUT;
  }
  return features;
}

/** Nothing but features that are asked for. */
export function featureGroup(features: number, items: number): ItemGroup {
  const nothing = { tokenClass: 0, bytes: 0, largestBytes: 0, inputTokens: 0, outputTokens: 0, uncappedItems: 0 };
  return { requestedModel: '', features, items, ...nothing };
}
