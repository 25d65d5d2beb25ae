import type { Quote } from '../../contracts/quote.ts';
import type { StoredCalibration } from '../../db/stored-estimate.ts';
import type { StoredQuote } from '../../db/submissions.ts';

export function presentQuote(stored: StoredQuote, currency: string): Quote {
  return {
    ...stored,
    currency,
    counted_input_tokens: stored.counted_input_tokens ?? null,
    calibration: stored.calibration === undefined ? null : presentCalibration(stored.calibration),
    expected_output: [...(stored.expected_output ?? [])],
    lines: [...stored.lines],
    targets: stored.targets.map(({ requested_model, provider, model }) => ({ requested_model, provider, model })),
  };
}

function presentCalibration(stored: StoredCalibration | null): Quote['calibration'] {
  if (stored === null) return null;
  return { ...stored, models: stored.models.map((model) => ({ ...model, bands: [...model.bands] })) };
}
