#!/bin/sh
# Looks up one address: sh curl.sh POSTCODE HUISNUMMER [TOEVOEGING]. Prints the response, which is JSON.
# Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment.
set -eu
: "${BAG_ADRES_URL:?Set BAG_ADRES_URL and BAG_ADRES_KEY.}" "${BAG_ADRES_KEY:?Set BAG_ADRES_URL and BAG_ADRES_KEY.}"

# The key is passed on standard input, because other users of the machine can read the arguments of a program.
# curl retries on 429, 500 and 503 and waits for as long as Retry-After says.
printf 'header = "X-API-Key: %s"\n' "$BAG_ADRES_KEY" |
  curl --config - --silent --show-error --fail-with-body --max-time 10 \
    --retry 2 --retry-connrefused --retry-max-time 30 \
    --get "${BAG_ADRES_URL%/}/v1/address" \
    --data-urlencode "postcode=${1:-}" \
    --data-urlencode "huisnummer=${2:-}" \
    --data-urlencode "toevoeging=${3:-}"
echo
