import { freezeShapes } from './frozen-shapes.ts';

// `npm run stored-shapes`: freezes what this release stores, next to the number of its format.
const fault = freezeShapes(process.argv.includes('--unpublished'));
if (fault !== null) {
  process.stderr.write(`stored-shapes: ${fault}\n`);
  process.exitCode = 1;
}
