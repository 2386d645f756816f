import * as E from 'fp-ts/lib/Either.js';
import { isObject } from '#shared/json/json.ts';
import { convertConfiguration } from './convert-configuration.ts';
import { readYaml } from './read-yaml.ts';

/**
 * Imports a file, and prints to standard error what is left out or different.
 * @returns the exit code: 0 if there is a model
 */
export async function importLiteLlm(file: string): Promise<number> {
  const read = await readYaml(file);
  if (E.isLeft(read)) return refuse(file, read.left);
  if (!isObject(read.right)) return refuse(file, ['the file is not a map']);
  const { configuration, remarks } = convertConfiguration(read.right);
  for (const { kind, place, text } of remarks) process.stderr.write(`${kind}: ${place}: ${text}\n`);
  if (Object.keys(configuration.models).length === 0) return refuse(file, ['no model could be converted']);
  process.stdout.write(`${JSON.stringify(configuration, null, 2)}\n`);
  return 0;
}

function refuse(file: string, reasons: ReadonlyArray<string>): number {
  for (const reason of reasons) process.stderr.write(`gateway: ${file}: ${reason}\n`);
  return 1;
}
