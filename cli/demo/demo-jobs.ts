import type { StackReady } from '../../local/stack-options.ts';
import type { DemoJob } from './demo-job.ts';
import { ticketJob } from './ticket-job.ts';
import type { Ticket } from './tickets.ts';
import { troubleMark } from './troubles.ts';

const NO_TROUBLE = () => null;

/**
 * The same work on each provider, by nothing but another model: the tickets are dealt out to three jobs. One of them
 * meets with errors, so that partial failure can be seen.
 */
export function demoJobs(tickets: readonly Ticket[], { simulators }: StackReady): DemoJob[] {
  const targets = [
    { title: 'OpenAI', model: 'openai/gpt-5.6-luna', url: simulators.openai_url, troubleOf: NO_TROUBLE },
    { title: 'Anthropic', model: 'anthropic/claude-haiku-5-5', url: simulators.anthropic_url, troubleOf: NO_TROUBLE },
    { title: 'Gemini', model: 'gemini/gemini-3.5-flash-lite', url: simulators.gemini_url, troubleOf: troubleMark },
  ];
  return targets
    .map(({ title, model, url, troubleOf }, index) => {
      const own = tickets.filter((_, place) => place % targets.length === index);
      const isSimulated = url !== null;
      const hasTrouble = isSimulated && troubleOf !== NO_TROUBLE;
      return {
        title,
        wanted: ticketJob({ tickets: own.length, model, name: jobName(title, hasTrouble) }),
        tickets: own,
        isSimulated,
        troubleOf: hasTrouble ? troubleOf : NO_TROUBLE,
      };
    })
    .filter((job) => job.tickets.length > 0);
}

function jobName(title: string, hasTrouble: boolean): string {
  return `Support tickets on ${title}${hasTrouble ? ', some in trouble' : ''} (demo)`;
}
