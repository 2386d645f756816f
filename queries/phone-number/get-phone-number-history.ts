import { phoneNumberHistory } from '#domain/phone-number/history.ts';
import { getHistory } from '#queries/shared/get-history.ts';

export const getPhoneNumberHistory = getHistory({
  name: 'get_phone_number_history',
  summary: 'Read the history of a phone number',
  group: 'Phone numbers',
  path: '/v1/phone-numbers/:phoneNumberId/history',
  scope: 'phone-numbers:read',
  parameter: 'phoneNumberId',
  notFound: 'phone-number-not-found',
  history: phoneNumberHistory,
});
