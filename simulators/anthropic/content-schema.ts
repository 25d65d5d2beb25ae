import { z } from 'zod';

export const CacheControl = z
  .strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })
  .nullish();
const ToolId = z.string().regex(/^[a-zA-Z0-9_-]+$/);

const UrlSource = z.strictObject({ type: z.literal('url'), url: z.string().min(1) });
const FileSource = z.strictObject({ type: z.literal('file'), file_id: z.string().min(1) });

const Text = z.strictObject({
  type: z.literal('text'),
  text: z.string().min(1),
  cache_control: CacheControl,
  citations: z.array(z.unknown()).nullish(),
});
const Image = z.strictObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('base64'),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: z.base64().min(1),
    }),
    UrlSource,
    FileSource,
  ]),
  cache_control: CacheControl,
  transformations: z.unknown().optional(),
});
const Document = z.strictObject({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('base64'),
      media_type: z.literal('application/pdf'),
      data: z.base64().min(1),
    }),
    z.strictObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
    z.strictObject({ type: z.literal('content'), content: z.union([z.string(), z.array(z.unknown())]) }),
    UrlSource,
    FileSource,
  ]),
  cache_control: CacheControl,
  citations: z.unknown().optional(),
  context: z.string().nullish(),
  title: z.string().nullish(),
});
const ToolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: ToolId,
  name: z.string().min(1).max(200),
  input: z.record(z.string(), z.unknown()),
  cache_control: CacheControl,
  caller: z.unknown().optional(),
  toolset_name: z.string().nullish(),
});
const SearchResult = z.looseObject({ type: z.literal('search_result') });
const ToolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: ToolId,
  content: z
    .union([z.string(), z.array(z.discriminatedUnion('type', [Text, Image, Document, SearchResult]))])
    .optional(),
  is_error: z.boolean().optional(),
  cache_control: CacheControl,
  toolset_name: z.string().nullish(),
});
const Thinking = z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() });
const RedactedThinking = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() });

/** A content block a request may carry (@anthropic-ai/sdk types). */
const Block = z.discriminatedUnion('type', [
  Text,
  Image,
  Document,
  ToolUse,
  ToolResult,
  SearchResult,
  Thinking,
  RedactedThinking,
]);
export type Block = z.infer<typeof Block>;

export const Message = z.strictObject({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string().min(1), z.array(Block)]),
});
export type Message = z.infer<typeof Message>;

export const System = z.union([z.string(), z.array(Text)]);
