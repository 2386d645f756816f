import { wavHeader, wavHeaderBytes } from '#gateway/providers/wav-header.ts';

const sampleRate = 24_000;
const secondsPerWord = 0.25;
const maxWords = 400;
const loudness = 0.2 * 0x7fff;

/**
 * A playable WAV file (mono, 16 bit, 24 kHz): one tone for each word, the same for the same number of words.
 * @returns a header of 44 bytes and the samples
 */
export function toneWav(words: number): Buffer {
  const tones = Math.min(maxWords, Math.max(1, words));
  const samplesPerTone = sampleRate * secondsPerWord;
  const wav = Buffer.alloc(wavHeaderBytes + tones * samplesPerTone * 2);
  wavHeader(sampleRate, wav.length - wavHeaderBytes).copy(wav);
  for (let sample = 0; sample < tones * samplesPerTone; sample += 1) {
    const within = (sample % samplesPerTone) / samplesPerTone;
    const pitch = 220 * 2 ** ((Math.floor(sample / samplesPerTone) % 12) / 12);
    // Each tone swells and fades, so that none begins with a click.
    const level = loudness * Math.sin(Math.PI * within);
    const value = Math.round(level * Math.sin((2 * Math.PI * pitch * sample) / sampleRate));
    wav.writeInt16LE(value, wavHeaderBytes + sample * 2);
  }
  return wav;
}
