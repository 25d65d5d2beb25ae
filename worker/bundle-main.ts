import { bundleWorkflows } from './workflow-bundle.ts';

// The bundle alone goes to standard output: what the bundler has to say is on standard error.
process.stdout.write((await bundleWorkflows()).code);
