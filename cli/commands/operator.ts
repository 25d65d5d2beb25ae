import { defineCommand } from '../command.ts';
import { usageError } from '../errors.ts';
import {
  operatorCancelCommand,
  operatorGiveUpCommand,
  operatorReIngestCommand,
  operatorResolveCommand,
} from './operator-acts.ts';
import { operatorJobCommand } from './operator-job.ts';

const TOPICS = [
  operatorJobCommand,
  operatorCancelCommand,
  operatorGiveUpCommand,
  operatorReIngestCommand,
  operatorResolveCommand,
];

export const operatorCommand = defineCommand({
  name: 'operator',
  summary: 'look into any job and act on what is stuck (operator)',
  arguments: [],
  options: {},
  topics: TOPICS,
  examples: TOPICS.flatMap(({ examples }) => examples.slice(0, 1)),
  async run() {
    throw usageError(`operator needs a topic: ${TOPICS.map(({ name }) => name).join(', ')}.`);
  },
});
