import { z } from 'zod';
import { completionText, type Result } from '../results/result-line.ts';

const Answer = z.object({ category: z.string(), urgency: z.string() });

/** How often each category was answered, most often first, and how many answers could not be read. */
export class AnswerTally {
  readonly #counts = new Map<string, number>();
  unread = 0;
  highUrgency = 0;

  add({ result }: Pick<Result, 'result'>): void {
    const answer = parseAnswer(completionText(result));
    if (answer === null) {
      this.unread += 1;
      return;
    }
    this.#counts.set(answer.category, (this.#counts.get(answer.category) ?? 0) + 1);
    if (answer.urgency === 'high') this.highUrgency += 1;
  }

  byCategory(): { readonly category: string; readonly tickets: number }[] {
    return [...this.#counts]
      .map(([category, tickets]) => ({ category, tickets }))
      .sort((left, right) => right.tickets - left.tickets);
  }
}

function parseAnswer(text: string | null): z.infer<typeof Answer> | null {
  try {
    return Answer.parse(JSON.parse(text ?? ''));
  } catch {
    return null;
  }
}
