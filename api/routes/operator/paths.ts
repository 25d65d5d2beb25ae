import { allow, OPERATOR_ROLES } from '../../middleware/allow.ts';

export const OPERATOR_ROUTE = { tags: ['Operators'], security: [{ bearer: [] }] };

export const operatorsOnly = allow({
  roles: OPERATOR_ROLES,
  scope: { read: 'operator:read', write: 'operator:write' },
});
