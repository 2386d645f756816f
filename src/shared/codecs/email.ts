import { codePoints, textThat } from './text.ts';

const maxEmailCharacters = 254;
const emailPattern =
  /^(?=.{1,64}@)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * A codec of an e-mail address: the mailbox of RFC 5321 without quoted local parts and address literals, at a host
 * with at least two labels. Only a message can show whether the address exists.
 */
export const email = textThat(
  'email',
  (value) => {
    if (value.length > maxEmailCharacters)
      return `must have at most ${maxEmailCharacters} characters, has ${codePoints(value)}`;
    return emailPattern.test(value) ? null : 'must be an e-mail address, like name@example.com';
  },
  { format: 'email', maxLength: maxEmailCharacters },
);
