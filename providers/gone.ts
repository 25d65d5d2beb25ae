import { ProviderError } from './provider-error.ts';

/** Waits for a deletion; what is not there any more is deleted. */
export async function unlessGone(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code !== 'not_found') throw error;
  }
}
