import type { FailureTexts } from '#domain/shared/failure.ts';

export const requestFailures = {
  'malformed-json': {
    status: 400,
    title: 'The body is not JSON',
    solution: 'Send a body that a JSON parser accepts; `detail` names the line and column.',
  },
  'invalid-encoding': {
    status: 400,
    title: 'The body is not UTF-8',
    solution: 'Send the body as UTF-8, without a byte of another encoding.',
  },
  'bad-request': {
    status: 400,
    title: 'The request cannot be read',
    solution: 'Send a complete HTTP/1.1 request whose target and headers follow RFC 9112.',
  },
  'path-not-found': {
    status: 404,
    title: 'No such path',
    solution: 'Look the path up in `/docs`; paths of the API begin with `/v1`.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The path does not take this method',
    solution: 'Use a method that the header `Allow` of the answer names.',
  },
  'body-too-slow': {
    status: 408,
    title: 'The body came too slowly',
    solution: 'Send the request again over a faster connection, or a smaller body.',
  },
  'body-evicted': {
    status: 408,
    title: 'The unfinished body was ended to make room',
    solution: 'Send the whole body without pauses: unfinished bodies make room for others.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    solution: 'Send a smaller body; `detail` has the limit.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The media type of the body is not supported',
    solution: 'Send the `Content-Type` that `detail` names.',
  },
  'invalid-input': {
    status: 422,
    title: 'The input is not valid',
    solution: 'Correct each of `errors`: its `pointer` or `parameter` names the place.',
  },
  'nesting-too-deep': {
    status: 422,
    title: 'The JSON is nested too deeply',
    solution: 'Send JSON with fewer levels; `detail` has the limit.',
  },
  'number-not-exact': {
    status: 422,
    title: 'JSON does not keep the digits of a number',
    solution: 'Send the number as a string, or with fewer digits.',
  },
  'too-many-values': {
    status: 422,
    title: 'The JSON has too many values',
    solution: 'Send JSON with fewer values, or in several requests.',
  },
  'invalid-header': {
    status: 422,
    title: 'A header is not valid',
    solution: 'Correct the header that `errors` names.',
  },
} as const satisfies FailureTexts;
