/* minimd/config/read_expression.c - the arithmetic of `variable NAME equal EXPRESSION`.
 *
 *     sum = product (+|- product)*    product = factor (*|/ factor)*
 *     factor = number | (sum) | -factor */
#include "minimd/config/read_script.h"
#include "core/parse/parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 200 };

typedef struct {
  const char *whole, *at;
  int depth;
} expression;

static md_status sum(expression *ex, double *out);

/* The next character that is not blank. */
static char peek(expression *ex)
{
  ex->at += strspn(ex->at, " \t");
  return *ex->at;
}

static md_status literal(expression *ex, double *out)
{
  char *number;
  size_t length = strspn(ex->at, "0123456789.");
  if (length && (ex->at[length] == 'e' || ex->at[length] == 'E')) {
    const size_t sign = ex->at[length + 1] == '+' || ex->at[length + 1] == '-';
    const size_t digits = strspn(ex->at + length + 1 + sign, "0123456789");
    if (digits) length += 1 + sign + digits;
  }
  MD_REQUIRE(length, MD_EINVAL,
             "expected a number at '%.60s' in '%.60s' (+ - * / and parentheses are supported)",
             ex->at, ex->whole);
  number = strndup(ex->at, length);
  MD_REQUIRE(number, MD_ENOMEM, "out of memory for an expression");
  const md_status status = md_parse_double(number, out);
  free(number);
  ex->at += length;
  return status;
}

static md_status factor(expression *ex, double *out)
{
  MD_REQUIRE(ex->depth++ < MAX_DEPTH, MD_EINVAL, "more than %d nested parentheses or signs",
             MAX_DEPTH);
  if (peek(ex) == '-') {
    ex->at++;
    MD_TRY(factor(ex, out));
    *out = -*out;
  } else if (*ex->at == '(') {
    ex->at++;
    MD_TRY(sum(ex, out));
    MD_REQUIRE(peek(ex) == ')', MD_EINVAL, "expected ')' at '%.60s' in '%.60s'", ex->at, ex->whole);
    ex->at++;
  } else {
    MD_TRY(literal(ex, out));
  }
  ex->depth--;
  return MD_OK;
}

static md_status product(expression *ex, double *out)
{
  MD_TRY(factor(ex, out));
  while (peek(ex) == '*' || *ex->at == '/') {
    const char operation = *ex->at++;
    double right;
    MD_TRY(factor(ex, &right));
    MD_REQUIRE(operation == '*' || right != 0, MD_EINVAL, "division by zero in '%.60s'", ex->whole);
    *out = operation == '*' ? *out * right : *out / right;
  }
  return MD_OK;
}

static md_status sum(expression *ex, double *out)
{
  MD_TRY(product(ex, out));
  while (peek(ex) == '+' || *ex->at == '-') {
    const char operation = *ex->at++;
    double right;
    MD_TRY(product(ex, &right));
    *out = operation == '+' ? *out + right : *out - right;
  }
  return MD_OK;
}

md_status script_evaluate(const char *text, double *out)
{
  expression ex = {text, text, 0};
  double value;
  MD_TRY(sum(&ex, &value));
  MD_REQUIRE(peek(&ex) == '\0', MD_EINVAL,
             "'%.60s' in '%.60s' is outside the supported subset (+ - * / and parentheses)", ex.at,
             text);
  MD_REQUIRE(isfinite(value), MD_EINVAL, "'%.60s' is not finite", text);
  *out = value;
  return MD_OK;
}
