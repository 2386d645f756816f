/** The versions of the partner's own flow, version 1 first. */
export const welcomeVersions = [
  { say: 'Parley Voice, good day.', listenFor: ['sales', 'support'] },
  { say: 'Parley Voice, good day. Sales or support?', listenFor: ['sales', 'support'] },
  { say: 'Parley Voice, good day. Sales or support?', listenFor: ['sales', 'support', 'invoice'] },
  { say: 'Parley Voice. Say in a few words why you call.', listenFor: ['anything'] },
  {
    say: 'Parley Voice, good day. Is it sales, support or an invoice?',
    listenFor: ['sales', 'support', 'invoice'],
    otherwise: 'Let me put you through to a person.',
  },
  {
    say: 'Parley Voice, good day. Is it sales, support or an invoice?',
    listenFor: ['sales', 'support', 'invoice', 'a person'],
    otherwise: 'Let me put you through to a person.',
    outOfHours: 'We are back at eight. Leave your number, and we call you.',
  },
] as const;
