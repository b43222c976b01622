#!/bin/sh
# Looks up one address: sh curl.sh POSTCODE HUISNUMMER [TOEVOEGING]. Prints the answer, which is JSON.
# Wants BAG_ADRES_URL and BAG_ADRES_KEY in the environment.
set -eu

# The key goes in by standard input, since other users of the machine can read the arguments of a program.
printf 'header = "X-API-Key: %s"\n' "$BAG_ADRES_KEY" |
  curl --config - --silent --show-error --fail-with-body --max-time 10 \
    --retry 2 --retry-max-time 30 \
    --get "$BAG_ADRES_URL/v1/address" \
    --data-urlencode "postcode=$1" \
    --data-urlencode "huisnummer=$2" \
    --data-urlencode "toevoeging=${3:-}"
echo
