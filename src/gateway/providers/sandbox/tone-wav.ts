import { wavHeader } from '#gateway/providers/wav-header.ts';

const sampleRate = 24_000;
const secondsPerWord = 0.25;
const maxWords = 400;
const loudness = 0.2 * 0x7fff;
const samplesPerTone = sampleRate * secondsPerWord;

/** Playable (mono, 16 bit, 24 kHz): one tone for each word, the same for the same number of words. */
interface ToneWav {
  readonly header: Buffer;
  /**
   * Samples of a tone each, made when they are read: all together would block the event loop. A tone has 12,000 bytes.
   */
  readonly tones: Iterable<Buffer>;
}

export function toneWav(words: number): ToneWav {
  const tones = Math.min(maxWords, Math.max(1, words));
  return { header: wavHeader(sampleRate, tones * samplesPerTone * 2), tones: makeTones(tones) };
}

function* makeTones(tones: number): Iterable<Buffer> {
  for (let tone = 0; tone < tones; tone += 1) yield makeTone(tone);
}

function makeTone(tone: number): Buffer {
  const samples = Buffer.alloc(samplesPerTone * 2);
  const pitch = 220 * 2 ** ((tone % 12) / 12);
  for (let at = 0; at < samplesPerTone; at += 1) {
    // Each tone swells and fades, so that none begins with a click.
    const level = loudness * Math.sin((Math.PI * at) / samplesPerTone);
    const sample = tone * samplesPerTone + at;
    samples.writeInt16LE(Math.round(level * Math.sin((2 * Math.PI * pitch * sample) / sampleRate)), at * 2);
  }
  return samples;
}
