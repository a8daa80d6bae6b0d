'use strict';

// The service that the demo calls, and its client; tests call them too.

require('reflect-metadata');
const { IMQClient, IMQService, expose } = require('@imqueue/rpc');

class Calculator extends IMQService {
    double(number) {
        return 2 * number;
    }
}

// What TypeScript makes of `@expose() double(number: number): number`.
Reflect.defineMetadata('design:paramtypes', [Number], Calculator.prototype, 'double');
Reflect.defineMetadata('design:returntype', Number, Calculator.prototype, 'double');
expose()(
    Calculator.prototype,
    'double',
    Object.getOwnPropertyDescriptor(Calculator.prototype, 'double'),
);

class CalculatorClient extends IMQClient {
    double(number) {
        return this.remoteCall(number, 'double');
    }
}

module.exports = { Calculator, CalculatorClient };
