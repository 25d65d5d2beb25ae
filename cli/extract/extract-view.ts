import type { DocumentBatch } from '../../contracts/document.ts';
import type { Context } from '../command.ts';
import { percent } from '../job-progress.ts';
import { count } from '../output.ts';
import { cutText } from '../text-width.ts';

/** Shows how far a batch is, on standard error. */
export interface ExtractView {
  uploads(done: number, all: number): void;
  batch(batch: DocumentBatch, isOutOfReach: boolean): void;
  /** Leaves nothing of a line that is drawn over. */
  clear(): void;
}

export const SILENT_EXTRACT_VIEW: ExtractView = {
  uploads: () => undefined,
  batch: () => undefined,
  clear: () => undefined,
};

const DEFAULT_COLUMNS = 80;

/** On a terminal a line that is drawn over; elsewhere a line for each tenth. */
export function createExtractView({ terminal: { err } }: Pick<Context, 'terminal'>): ExtractView {
  const isDrawn = err.isTTY === true;
  let last = '';
  const say = (key: string, text: string) => {
    const change = isDrawn ? text : key;
    if (change === last) return;
    last = change;
    // A line that fills the last column would wrap on some terminals.
    err.write(isDrawn ? `\r\x1b[K${cutText(text, (err.columns ?? DEFAULT_COLUMNS) - 1)}` : `${text}\n`);
  };
  return {
    uploads: (done, all) => say(`uploads ${tenth(done, all)}`, `${count(done)} of ${count(all)} files uploaded`),
    batch({ status, counts }, isOutOfReach) {
      const { queued, processing, succeeded, failed, canceled } = counts;
      const ended = succeeded + failed + canceled;
      const all = ended + queued + processing;
      const bad = failed + canceled > 0 ? `, ${count(failed + canceled)} of them failed` : '';
      const note = isOutOfReach ? '. The gateway does not answer; trying again.' : '';
      const text = `${status}: ${count(ended)} of ${count(all)} documents done${bad}, ${count(processing)} in work${note}`;
      say(`${status} ${tenth(ended, all)}${note}`, text);
    },
    clear: () => {
      if (isDrawn && last !== '') err.write('\r\x1b[K');
    },
  };
}

function tenth(done: number, all: number): number {
  return Math.floor(percent(done, all) / 10);
}
