import { OPERATOR_ROLES, requireRole } from '../../middleware/require-role.ts';

export const OPERATOR_ROUTE = { tags: ['Operators'], security: [{ bearer: [] }] };

export const operatorsOnly = requireRole(OPERATOR_ROLES);
