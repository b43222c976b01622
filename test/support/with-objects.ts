/**
 * Makes everything that a test file imports after this a deployment with objects, as the
 * environment of its Lambdas does.
 */
import { environment } from '../../core/environment.ts';

process.env[environment.objecten] = 'on';
