/** Ids as OpenAI, Anthropic and Google write them: a word for the kind, then a long run with a digit in it. */
const PROVIDER_ID =
  /\b(org|proj|user|key|sk|file|batch|batch_req|req|msgbatch|files|batches)([-_/])(?=[A-Za-z]*\d)[A-Za-z0-9]{8,}\b/g;

/** Text of a provider with its ids for accounts, files, batches and requests taken out: those are not for tenants. */
export function hideProviderIds(text: string): string {
  return text.replaceAll(PROVIDER_ID, '$1$2…');
}
