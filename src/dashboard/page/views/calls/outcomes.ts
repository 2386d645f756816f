import type { Tone } from '#dashboard/page/parts/basics.ts';

export const outcomes: ReadonlyArray<string> = ['served', 'refused', 'failed', 'broken-off', 'client-gone'];

const tones: Readonly<Record<string, Tone>> = {
  served: 'ok',
  refused: 'warn',
  failed: 'bad',
  'broken-off': 'bad',
  abandoned: 'idle',
};

/** The tone of an outcome, and of the result of an attempt. */
export function outcomeTone(outcome: string): Tone {
  return tones[outcome] ?? 'idle';
}
