import type { FeatureRefusal } from './capability-row.ts';

/** A batch has nobody to stream to. */
export const NO_STREAM: FeatureRefusal = {
  feature: 'STREAM',
  message:
    "The selected provider's batch mode does not stream responses. Remove stream=true or call a synchronous endpoint.",
};

/** What costs money that the price book has no rate for cannot be held, so it is not sent. */
export const UNPRICED: readonly FeatureRefusal[] = [
  {
    feature: 'AUDIO_INPUT',
    message:
      'Audio input has a price of its own that the price book does not have, so its cost cannot be held. Send a transcript.',
  },
  {
    feature: 'MEDIA_OUTPUT',
    message:
      'Audio and image output have prices of their own that the price book does not have, so their cost cannot be held. Ask for text.',
  },
  {
    feature: 'SERVER_TOOLS',
    message:
      'Tools that the provider runs itself have fees that the price book does not have, so their cost cannot be held. Use function tools.',
  },
  {
    feature: 'SERVICE_TIER',
    message:
      'Other service tiers, speeds and places of processing have prices that the price book does not have in batch mode. Remove the member.',
  },
];

/** What a chat completion cannot ask of any provider but one that speaks OpenAI's API itself. */
export const UNTRANSLATABLE: readonly FeatureRefusal[] = [
  {
    feature: 'PROVIDER_FILE',
    message: 'A file id is known only to the provider that gave it. Send the file itself, as file_data.',
  },
  {
    feature: 'LOGPROBS',
    message: 'The selected provider gives no log probabilities here. Remove logprobs and top_logprobs.',
  },
  {
    feature: 'PROVIDER_STATE',
    message: 'The selected provider stores no chat completions. Remove store=true.',
  },
  {
    feature: 'PROVIDER_SPECIFIC',
    message:
      'The selected provider has nothing like this member or value of a chat completion. Remove it, or choose a model of a provider that speaks the OpenAI API.',
  },
  {
    feature: 'UNKNOWN_FIELD',
    message:
      'A member that the gateway does not know cannot be translated for the selected provider. Remove it, or choose a model of a provider that speaks the OpenAI API.',
  },
];
