import Anthropic from '@anthropic-ai/sdk';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import { beforeAll, describe, expect, test } from 'vitest';
import * as anthropic from './anthropic/testing/harness.ts';
import * as gemini from './gemini/testing/harness.ts';
import * as openai from './openai/testing/harness.ts';

const ITEMS = {
  type: 'object',
  properties: { item: { type: 'string' }, total: { type: 'string' }, page_number: { type: 'integer' } },
  required: ['item', 'total', 'page_number'],
  additionalProperties: false,
};
const SCHEMA = {
  type: 'object',
  properties: { rows: { type: 'array', items: ITEMS } },
  required: ['rows'],
  additionalProperties: false,
};

/** What is put before the model besides a question. */
type Document = { pdf: string } | { text: string };
/** Asks for rows of a document, after earlier turns if any; the text of the reply, or `failed`. */
type Ask = (document: Document, repair?: { reply: string }) => Promise<string>;

interface Simulated {
  name: string;
  start(): Promise<{ direct: Ask; batch: Ask }>;
}

const OPENAI: Simulated = {
  name: 'openai',
  async start() {
    const { client } = await openai.startOpenAi();
    const bodyOf = (document: Document, repair?: { reply: string }) => ({
      model: 'gpt-4o-mini',
      messages: [
        { role: 'system' as const, content: 'Give rows. total: what is paid' },
        {
          role: 'user' as const,
          content: [
            'pdf' in document
              ? {
                  type: 'file' as const,
                  file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${document.pdf}` },
                }
              : { type: 'text' as const, text: document.text },
          ],
        },
        ...(repair
          ? [
              { role: 'assistant' as const, content: repair.reply },
              { role: 'user' as const, content: 'Again.' },
            ]
          : []),
      ],
      response_format: { type: 'json_schema' as const, json_schema: { name: 'rows', strict: true, schema: SCHEMA } },
    });
    return {
      direct: async (...asked) => {
        const reply = await client.chat.completions.create(bodyOf(...asked)).catch(() => null);
        return reply?.choices[0]?.message.content ?? 'failed';
      },
      batch: async (...asked) => {
        const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: bodyOf(...asked) };
        const { id } = await openai.submit(client, [JSON.stringify(line)]);
        const ended = await openai.reached(client, id);
        const [result] = await openai.fileLines(client, ended.output_file_id);
        const body = result?.response?.body as { choices: [{ message: { content: string } }] } | undefined;
        return body?.choices[0].message.content ?? 'failed';
      },
    };
  },
};

const ANTHROPIC: Simulated = {
  name: 'anthropic',
  async start() {
    const { client } = await anthropic.startAnthropic();
    const paramsOf = (document: Document, repair?: { reply: string }) => {
      const source =
        'pdf' in document
          ? { type: 'base64' as const, media_type: 'application/pdf' as const, data: document.pdf }
          : { type: 'text' as const, media_type: 'text/plain' as const, data: document.text };
      return anthropic.ask([{ type: 'document', source }], {
        system: 'Give rows. total: what is paid',
        messages: [
          { role: 'user', content: [{ type: 'document', source }] },
          ...(repair
            ? [
                { role: 'assistant' as const, content: repair.reply },
                { role: 'user' as const, content: 'Again.' },
              ]
            : []),
        ],
        output_config: { format: { type: 'json_schema', schema: SCHEMA } },
      });
    };
    const textOf = (message: Anthropic.Message) => {
      const [block] = message.content;
      return block?.type === 'text' ? block.text : 'failed';
    };
    return {
      direct: async (...asked) =>
        client.messages.create(paramsOf(...asked)).then(textOf, (error: unknown) => {
          if (error instanceof Anthropic.APIError) return 'failed';
          throw error;
        }),
      batch: async (...asked) => {
        const [result] = await anthropic.run(client, [paramsOf(...asked)]);
        return result?.type === 'succeeded' ? textOf(result.message) : 'failed';
      },
    };
  },
};

const GEMINI: Simulated = {
  name: 'gemini',
  async start() {
    const started = await gemini.startGemini();
    const requestOf = (document: Document, repair?: { reply: string }) => ({
      systemInstruction: { parts: [{ text: 'Give rows. total: what is paid' }] },
      contents: [
        {
          role: 'user',
          parts: [
            'pdf' in document
              ? { inlineData: { mimeType: 'application/pdf', data: document.pdf } }
              : { text: document.text },
          ],
        },
        ...(repair
          ? [
              { role: 'model', parts: [{ text: repair.reply }] },
              { role: 'user', parts: [{ text: 'Again.' }] },
            ]
          : []),
      ],
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: SCHEMA },
    });
    return {
      direct: async (...asked) => {
        const { text } = await started.rest(
          'POST',
          `/v1beta/models/${gemini.MODEL}:generateContent`,
          requestOf(...asked),
        );
        const reply = JSON.parse(text) as { candidates?: [{ content: { parts: [{ text: string }] } }] };
        return reply.candidates?.[0].content.parts[0].text ?? 'failed';
      },
      batch: async (...asked) => {
        const { response } = await gemini.runOne(started, requestOf(...asked));
        return response?.candidates?.[0]?.content?.parts?.[0]?.text ?? 'failed';
      },
    };
  },
};

async function pdfOf(...pages: (readonly string[])[]): Promise<Document> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  for (const lines of pages) {
    const page = pdf.addPage();
    for (const [index, line] of lines.entries()) {
      for (const [cell, text] of line.split(' | ').entries()) {
        page.drawText(text, { x: 40 + cell * 200, y: 700 - index * 20, size: 11, font });
      }
    }
  }
  return { pdf: Buffer.from(await pdf.save()).toString('base64') };
}

describe.for([OPENAI, ANTHROPIC, GEMINI])('$name', ({ start }) => {
  const ways = ['direct', 'batch'] as const;
  let pdf: Document;
  beforeAll(async () => {
    pdf = await pdfOf(['Item | Total', 'Nails | 1.50'], ['Screws | 2']);
  });
  const rows = [
    { item: 'Nails', total: '1.50', page_number: 1 },
    { item: 'Screws', total: '2', page_number: 2 },
  ];

  test.for(ways)('gives the rows of a PDF, asked %s', async (way) => {
    expect(JSON.parse(await (await start())[way](pdf))).toEqual({ rows });
  });

  test.for(ways)('gives the rows of a text, and none of what instructions say, asked %s', async (way) => {
    const text = 'Item,Total\nNails,1.50\nScrews,2';
    expect(JSON.parse(await (await start())[way]({ text }))).toEqual({
      rows: rows.map((row) => ({ ...row, page_number: 1 })),
    });
  });

  test.for(ways)('breaks the rows of a document once and gives them whole in the repair, asked %s', async (way) => {
    const ask = (await start())[way];
    const marked = await pdfOf(['[[sim:rows=broken]] [[sim:once]]', 'Item | Total', `Nails of ${way} | 1.50`]);
    const broken = await ask(marked);
    expect(() => JSON.parse(broken)).toThrow(SyntaxError);
    const repaired = await ask(marked, { reply: broken });
    expect(JSON.parse(repaired)).toEqual({ rows: [{ item: `Nails of ${way}`, total: '1.50', page_number: 1 }] });
  });

  test.for(ways)('breaks them always without that, asked %s', async (way) => {
    const ask = (await start())[way];
    const text = '[[sim:rows=missing:total]]\nItem,Total\nNails,1.50';
    const first = await ask({ text });
    expect(JSON.parse(first)).toEqual({ rows: [{ item: 'Nails', page_number: 1 }] });
    expect(await ask({ text }, { reply: first })).toBe(first);
  });

  test.for(ways)('heeds other marks inside a document, asked %s', async (way) => {
    expect(await (await start())[way](await pdfOf(['[[sim:error=server_error]]']))).toBe('failed');
    expect(await (await start())[way](await pdfOf(['[[sim:text=no rows]]']))).toBe('no rows');
  });
});
