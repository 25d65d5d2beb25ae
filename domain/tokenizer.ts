import type { Dialect, Provider } from './provider.ts';

/** The public vocabularies that a text can be counted with here. */
export type Encoding = 'o200k_base' | 'cl100k_base';

/** What a model's tokens are reckoned from. */
export interface Tokenizer {
  readonly encoding: Encoding;
  /** Tokens of the model for 100 of the encoding; 100 where the encoding is the model's own. */
  readonly perHundred: number;
  /** Where that ratio comes from, for people. */
  readonly source: string;
}

const OWN = 'the model’s own encoding';

/** OpenAI's models before GPT-4o, and all it embeds with (tiktoken, `model.py`). */
const CL100K_MODELS = /^(gpt-4(-|$)|gpt-3\.5|text-embedding-)/;

/** The last Claude models of the earlier tokenizer (Claude docs, "Token counting"). */
const EARLIER_CLAUDE = /^claude-(3|[a-z]+-3|[a-z]+-4(-[0-6])?([-@][0-9]{8})?$)/;

/**
 * Anthropic, Google and makers of open models publish no tokenizer of use here. Their ratios to o200k are assumed at the
 * upper end of what is told of ordinary text, so that a hold rather exceeds a bill.
 */
export function tokenizerOf(target: {
  readonly provider: Provider;
  readonly dialect: Dialect;
  readonly model: string;
}): Tokenizer {
  switch (target.dialect) {
    case 'anthropic':
      return EARLIER_CLAUDE.test(target.model) ? CLAUDE : LATER_CLAUDE;
    case 'gemini':
      return GEMINI;
    case 'openai':
      if (target.provider !== 'openai') return UNKNOWN;
      return {
        encoding: CL100K_MODELS.test(target.model) ? 'cl100k_base' : 'o200k_base',
        perHundred: 100,
        source: OWN,
      };
  }
}

const CLAUDE: Tokenizer = {
  encoding: 'o200k_base',
  perHundred: 130,
  source: 'published comparisons: 16 % (prose) to 30 % (code) more tokens than o200k_base',
};

const LATER_CLAUDE: Tokenizer = {
  encoding: 'o200k_base',
  perHundred: 176,
  source:
    'Claude docs: about 30 % more tokens than earlier models, taken as 35 %, on top of their 30 % over o200k_base',
};

const GEMINI: Tokenizer = {
  encoding: 'o200k_base',
  perHundred: 120,
  source:
    'Gemini docs: about 4 characters a token, where o200k_base has 4.1 in GSM8K’s questions; a fifth more for safety',
};

const UNKNOWN: Tokenizer = {
  encoding: 'o200k_base',
  perHundred: 130,
  source: 'assumed: the model’s tokenizer is not known',
};
