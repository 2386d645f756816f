import { codePoints, textThat } from './text.ts';

const longestEmail = 254;
const emailPattern =
  /^(?=.{1,64}@)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * An e-mail address as the internet delivers it: the mailbox of RFC 5321 without quoted names and numbered hosts, at a
 * host of two labels at least. Whether anybody reads it, only a letter can tell.
 */
export const email = textThat(
  'email',
  (value) => {
    if (value.length > longestEmail) return `must have at most ${longestEmail} characters, has ${codePoints(value)}`;
    return emailPattern.test(value) ? null : 'must be an e-mail address, like name@example.com';
  },
  { format: 'email', maxLength: longestEmail },
);
