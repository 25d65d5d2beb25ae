import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Context } from './command.ts';
import { inputError } from './errors.ts';

/** What a JSON file holds, or standard input for `-`. Throws a usage error that names the file. */
export async function readJsonFile(path: string, { standardInput }: Pick<Context, 'standardInput'>): Promise<unknown> {
  const name = path === '-' ? 'standard input' : path;
  const content = await readTextFile(path, { standardInput });
  try {
    return JSON.parse(content);
  } catch (error) {
    throw inputError(name, null, `not valid JSON (${error instanceof Error ? error.message : String(error)})`);
  }
}

/** A file as text, or standard input for `-`. Throws a usage error that names the file. */
export async function readTextFile(path: string, { standardInput }: Pick<Context, 'standardInput'>): Promise<string> {
  return path === '-' ? text(standardInput) : read(path);
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw inputError(path, null, code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`);
  }
}
