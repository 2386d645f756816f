import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A value of JSON, as the recordings hold them. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type JsonMessage = { [key: string]: Json };

/** One line of a recording: see the README beside the recordings. */
export interface RecordedLine {
  readonly scenario: string;
  /** Milliseconds since the scenario began. */
  readonly t: number;
  readonly call?: number;
  readonly dir: 'request' | 'response' | 'end' | 'late-end' | 'transport' | 'note' | 'omitted';
  readonly method?: string;
  readonly message?: JsonMessage;
  readonly metadata?: Record<string, string>;
  readonly halfClose?: boolean;
  readonly status?: { readonly code: number | null; readonly details: string };
  readonly by?: 'server' | 'client' | 'connection';
  readonly event?: string;
  readonly freshStore?: boolean;
}

/** One line of `client-level.jsonl`. */
export interface RecordedStep {
  readonly scenario: string;
  readonly step?: number;
  readonly t: number;
  readonly label?: string;
  readonly op?: string;
  readonly args?: Json[];
  readonly outcome?: 'resolved' | 'rejected' | 'pending';
  readonly event?: string;
  readonly value?: Json;
  readonly error?: JsonMessage;
}

const folder = fileURLToPath(new URL('../../../../../shared/recordings/eventstoredb', import.meta.url));

/** The folder of the recordings, beside the repository. */
export const recordingsFolder = folder;

/** The recordings are not part of the repository. Tests that need them are skipped when they are missing. */
export const recordingsAreThere = existsSync(folder);

/** The lines of one file, in order. @param name without its ending */
export function linesOf<Line = RecordedLine>(name: string): Line[] {
  const text = readFileSync(`${folder}/${name}.jsonl`, 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

/** Lines by scenario, in the order the scenarios begin. */
export function byScenario<Line extends { readonly scenario: string }>(
  lines: ReadonlyArray<Line>,
): Map<string, Line[]> {
  return Map.groupBy(lines, ({ scenario }) => scenario) as Map<string, Line[]>;
}
