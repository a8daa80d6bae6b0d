'use strict';

const REQUIREMENT = /^([^=!]+)(==|=|!=)(.*)$/;

/** Whether an object has the labels and fields: `a=b,c!=d`, as Kubernetes writes it. */
function selects({ labelSelector, fieldSelector }, object) {
    return fits(labelSelector, key => object.metadata.labels[key])
        && fits(fieldSelector, path => at(object, path));
}

function fits(selector, valueOf) {
    return requirements(selector).every(([, key, operator, value]) => (
        (valueOf(key) === value) === (operator !== '!=')
    ));
}

function requirements(selector) {
    return (selector ? selector.split(',') : []).map(text => {
        const requirement = REQUIREMENT.exec(text);
        if (!requirement) {
            throw new SyntaxError(`unable to parse requirement: ${text}`);
        }
        return requirement;
    });
}

function at(object, path) {
    return path.split('.').reduce((value, key) => value?.[key], object);
}

module.exports = { selects };
